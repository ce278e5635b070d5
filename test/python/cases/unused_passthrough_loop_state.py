from cases import t

KIND = 4
SOURCE = "mitsuba-renderer/drjit#536"
WHY = (
    "loop state holds a float of another shape that the body only passes through: no gradient "
    "for it (None/zeros), others unaffected"
)


def f(x, w):
    v, i = t(1.0), 0
    state_w = w
    while i < 2:
        v, state_w, i = v * x, state_w, i + 1
    return v.sum()


ARGS = [t([1.0, 2.0]), t([2.0, 3.0, 4.0])]
ARGNUMS = (0, 1)
EXPECTED = [5.0, [2.0, 4.0], None]
FD = True
