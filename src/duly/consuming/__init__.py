"""The other end of a target, in Python: a consumer that hands each message to the handler of its type.

A message is acknowledged after its handler has returned, so one that dies in the middle is delivered again: under the
same id, which the consumer remembers, so that a handler is not called twice for what it has finished. What a handler
raises gives the message back. ``consumer`` is the loop, ``redis``, ``rabbitmq`` and ``nats`` are where messages come
from. Whoever receives in another language needs none of this: a message is plain JSON with an id and a type.
"""

from .consumer import Consumer, Delivery, Handler, Remembered, Seen, Source, payload_type

__all__ = ["Consumer", "Delivery", "Handler", "Remembered", "Seen", "Source", "payload_type"]
