from cases import t

KIND = 2
SOURCE = "tensorflow/tensorflow#3862, tracel-ai/burn#3864"
WHY = (
    "cumprod backward must not divide by the input; positions after a zero get 0, the zero "
    "itself gets prefix times weighted suffix products"
)


def f(x):
    return (x.cumprod(dim=1) * t([1.0, 10.0, 100.0, 1000.0])).sum()


ARGS = [t([[2.0, 0.0, 3.0, 4.0], [2.0, 0.0, 3.0, 0.0]])]
ARGNUMS = (0,)
EXPECTED = [4.0, [[1.0, 24620.0, 0.0, 0.0], [1.0, 620.0, 0.0, 0.0]]]
FD = True
