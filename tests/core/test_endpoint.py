"""Where a webhook may go: tables of what is refused, and properties of the addresses."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.addresses import Allowed, read_allowed, refusal_of
from duly.core.endpoint import check_addresses, read_endpoint
from duly.core.errors import DestinationNotAllowed

INSIDE_4 = [
    "0.0.0.0", "0.1.2.3", "10.0.0.5", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.0.192", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.250",
    "240.0.0.1", "255.255.255.255",
]  # fmt: skip
INSIDE_6 = [
    "::", "::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "100::1", "fc00::1", "fd00:ec2::254",
    "fe80::1", "fec0::1", "ff02::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "3ffe::1",
]  # fmt: skip
PUBLIC = ["93.184.216.34", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "2606:2800:220:1::1", "2a00:1450::1"]


@pytest.mark.parametrize("address", [*INSIDE_4, *INSIDE_6])
def test_an_address_inside_is_refused(address: str) -> None:
    assert refusal_of(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_not(address: str) -> None:
    assert refusal_of(ip_address(address)) is None


@given(st.sampled_from([*INSIDE_4, *PUBLIC[:5]]))
def test_an_address_in_the_form_of_another_family_is_judged_as_itself(text: str) -> None:
    inner = IPv4Address(text)
    for prefix in ("::ffff:", "64:ff9b::"):
        assert refusal_of(IPv6Address(f"{prefix}{text}")) == refusal_of(inner)


@given(st.ip_addresses(v=4))
def test_what_python_calls_private_or_special_is_never_let_through(address: IPv4Address) -> None:
    special = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    assert refusal_of(address) or not (special or address.is_reserved or address.is_unspecified)


@given(st.ip_addresses(v=6))
def test_the_same_of_the_newer_family(address: IPv6Address) -> None:
    special = address.is_private or address.is_link_local or address.is_multicast or address.is_site_local
    holds_another = address.ipv4_mapped is not None or address in IPv6Network("64:ff9b::/96")
    assert refusal_of(address) or not (special or address.is_reserved) or holds_another


REFUSED = {
    "W-loopback": "http://127.0.0.1/",
    "W-loopback over TLS": "https://127.0.0.1/",
    "W-short": "https://127.1/",
    "W-hex": "https://0x7f.1/",
    "W06 octal": "https://0177.0.0.1/",
    "W-decimal": "https://2130706433/",
    "W-hex whole": "https://0x7f000001/",
    "W-other digits": "https://①②⑦.0.0.1/",
    "W-full-width dots": "https://127。0。0。1/",
    "W08 v6 loopback": "https://[::1]/",
    "W09 mapped": "https://[::ffff:127.0.0.1]/",
    "mapped in hex": "https://[::ffff:7f00:1]/",
    "compatible": "https://[::7f00:1]/",
    "W11 NAT64": "https://[64:ff9b::7f00:1]/",
    "6to4": "https://[2002:7f00:1::]/",
    "zone": "https://[fe80::1%25eth0]/",
    "W13 metadata": "http://169.254.169.254/latest/meta-data/",
    "W18 multicast": "https://224.0.0.1/",
    "W19 reserved": "https://192.0.0.8/",
    "W21 gopher": "gopher://127.0.0.1:6379/_FLUSHALL",
    "W22 ftp": "ftp://example.com/",
    "file": "file:///etc/passwd",
    "data": "data:text/plain,x",
    "plain http": "http://example.com/",
    "no scheme": "example.com/hook",
    "no host": "https:///hook",
    "only a path": "/hook",
    "empty": "",
    "a user": "https://user@example.com/",
    "a user and a password": "https://user:pass@example.com/",
    "a user that looks like the host": "https://example.com@127.0.0.1/",
    "an empty user": "https://@example.com/",
    "a backslash": "https://example.com\\@127.0.0.1/",
    "W27 a line break": "https://example.com/\r\nX-Injected: 1",
    "a tab": "https://exa\tmple.com/",
    "a NUL": "https://example.com/\0",
    "a blank": "https://example.com/a b",
    "a fragment": "https://example.com/#x",
    "another alphabet": "https://exämple.com/",
    "a low port": "https://example.com:22/",
    "port 0": "https://example.com:0/",
    "a port that is none": "https://example.com:x/",
    "a port too high": "https://example.com:65536/",
    "localhost": "https://localhost/",
    "localhost with a dot": "https://localhost./",
    "below localhost": "https://x.localhost/",
    "an inner name": "https://metadata.google.internal/",
    "a printer": "https://printer.local/",
    "a word": "https://intranet/",
    "an empty label": "https://a..example.com/",
    "a label that begins with a dash": "https://-a.example.com/",
    "percent in the host": "https://127.0.0.1%2f.example.com/",
    "a bracket": "https://[::1/",
    "too long": "https://example.com/" + "x" * 2048,
    "no text": 7,
    "nothing": None,
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_url_that_leads_elsewhere_is_refused(case: str) -> None:
    with pytest.raises(DestinationNotAllowed, match=r"^url .*; expected the https URL of a public host"):
        read_endpoint(REFUSED[case])


@pytest.mark.parametrize(
    ("url", "authority", "path"),
    [
        ("https://example.com", "example.com", "/"),
        ("https://Example.COM./hook?a=1&b=%20", "example.com", "/hook?a=1&b=%20"),
        ("https://example.com:8443/x?", "example.com:8443", "/x?"),
        ("https://example.com:443/", "example.com", "/"),
        ("https://xn--exmple-cua.com/", "xn--exmple-cua.com", "/"),
        ("https://93.184.216.34/", "93.184.216.34", "/"),
        ("https://[2606:2800:220:1::1]:8443/", "[2606:2800:220:1::1]:8443", "/"),
    ],
)
def test_a_public_one_is_read(url: str, authority: str, path: str) -> None:
    endpoint = read_endpoint(url)
    assert (endpoint.authority, endpoint.path) == (authority, path)


def test_the_operator_can_allow_hosts_and_networks() -> None:
    allowed = read_allowed(["hooks.internal", "*.corp.example", "10.1.0.0/16", "[::1]", "127.0.0.1"])
    for url in (
        "http://hooks.internal:81/x",
        "https://a.b.corp.example/",
        "http://10.1.2.3:25/",
        "http://[::1]:9/",
        "https://127.0.0.1:9999/",
        "https://[::ffff:10.1.2.3]/",
    ):
        read_endpoint(url, allowed)
    for url in ("http://10.2.0.1/", "http://corp.example/", "https://x.hooks.internal/", "https://127.0.0.2/"):
        with pytest.raises(DestinationNotAllowed):
            read_endpoint(url, allowed)


@pytest.mark.parametrize("entry", ["", "10.0.0.1/8", "http://x", "a b", "*", "a.*.b", "1.2.3", "-x", "x/8"])
def test_what_cannot_be_allowed_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"^" + ("" if not entry else entry[0].replace("*", r"\*"))):
        read_allowed([entry])


def test_w31_any_address_inside_blocks_the_whole_name() -> None:
    with pytest.raises(DestinationNotAllowed, match="private"):
        check_addresses("mixed.test", [ip_address("93.184.216.34"), ip_address("10.0.0.5")])
    check_addresses("mixed.test", [ip_address("93.184.216.34")])
    check_addresses("mixed.test", [ip_address("10.0.0.5")], read_allowed(["10.0.0.0/8"]))
    check_addresses("mixed.test", [ip_address("10.0.0.5")], read_allowed(["mixed.test"]))
    with pytest.raises(DestinationNotAllowed):
        check_addresses("mixed.test", [ip_address("10.0.0.5")], Allowed(frozenset({"other.test"})))


@given(st.text(max_size=60))
def test_whatever_is_given_is_read_or_refused(text: str) -> None:
    for url in (text, f"https://{text}", f"https://example.com/{text}"):
        try:
            endpoint = read_endpoint(url)
        except DestinationNotAllowed:
            continue
        assert endpoint.scheme == "https"
        assert url.isascii()
        assert url.isprintable()
