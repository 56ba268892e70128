"""The contract, kept by every store we ship and by the model that they are compared with.

Every class of it is taken in, so that one that is added there is also run here; the fixtures are our own.
"""

from tests.contract import suite
from tests.counting import at_least

CLASSES = at_least({name: value for name, value in vars(suite).items() if name.startswith("Test")}, 73, "classes")
globals().update(CLASSES)
