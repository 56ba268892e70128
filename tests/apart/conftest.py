"""The servers of the targets that are tested apart: SQS as moto plays it, and Celery on the private Redis."""

from collections.abc import Iterator

import pytest

from tests.conftest import need
from tests.docs.conftest import quick, reader
from tests.targets.limits import be_as_shipped, be_patient

__all__ = ["quick", "reader"]


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """Let no target give up on a server that is only slow."""
    be_patient()
    yield
    be_as_shipped()


@pytest.fixture(scope="session")
def sqs() -> Iterator[str]:
    """The address of moto's server."""
    with need("sqs"):
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()
