"""Places outside duly that a run can be handed to: queues of others, and webhooks.

The outbox is the queue that duly has already. A fire writes the run of a schedule with an outside target into the
queue ``target:<name>``, in the transaction that moves the schedule; whoever has that target claims such runs in
batches, turns each into a ``Message``, and gives them to ``Target.send``. Only what the target confirms is settled as
done, under the fence of the claim; whatever else happens, the run is still there and goes again. So every committed
run is delivered at least once, under one id: the run's.

``target`` is what a target promises, ``envelope`` what a message says, ``registering`` how a URL finds its class.
``duly.testing.contract.target`` are the tests that every target passes on its real server.
"""

from .target import Confirmed, Message, Refused, Stopped, Target, TryAgain, Verdict

__all__ = ["Confirmed", "Message", "Refused", "Stopped", "Target", "TryAgain", "Verdict"]
