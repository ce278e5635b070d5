from cases import t

KIND = 1
SOURCE = "pytorch/pytorch#100348"
WHY = (
    "detach() must give a new output slot; if it is lowered to a no-op both outputs become "
    "the same non-differentiable tensor"
)


def f(x):
    loss = (x * x).mean()
    return loss, loss.detach()


ARGS = [t([[1.0, 2.0], [3.0, 4.0]])]
ARGNUMS = (0,)
COTANGENT = [1.0, None]
RG = [True, False]
EXPECTED = [[7.5, 7.5], [[0.5, 1.0], [1.5, 2.0]]]
