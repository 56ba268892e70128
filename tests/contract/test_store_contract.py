"""The contract, kept by every store we ship and by the model that they are compared with.

Everything is taken in, so that a part of the contract that is added there is also run here.
"""

from duly.testing.contract import *  # noqa: F403
