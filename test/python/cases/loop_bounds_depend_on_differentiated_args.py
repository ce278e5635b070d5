from cases import t

KIND = 4
SOURCE = "vgvassilev/clad#474"
WHY = (
    "while x <= upper: loop variable starts at a differentiated argument -> lower receives a "
    "gradient; upper only steers control flow -> None / zeros"
)


def f(lower, upper):
    h = 0.25
    s = t(0.0)
    x = lower
    while float(x.detach()) <= float(upper.detach()):
        s = s + x * x * h
        x = x + h
    return s


ARGS = [t(1.0), t(2.125)]
ARGNUMS = (0, 1)
EXPECTED = [2.96875, 3.75, None]
FD = True
