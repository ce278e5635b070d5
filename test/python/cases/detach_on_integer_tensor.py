from cases import t

KIND = 1
SOURCE = "jax-ml/jax#33689"
WHY = "detach/stop_gradient of an integer tensor is legal and the result is a plain constant index"

TABLE = t([10.0, 20.0, 30.0])


def f(x):
    i = x.round().long().detach()
    return (x * TABLE[i]).sum()


ARGS = [t([0.2, 1.9, 1.1])]
ARGNUMS = (0,)
EXPECTED = [81.0, [10.0, 30.0, 20.0]]
