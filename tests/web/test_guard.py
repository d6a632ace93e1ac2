"""Who is let in: this machine's own page, and with a token whoever was given it."""

import pytest
from starlette.testclient import TestClient

from protgnn.web.app import make_app
from protgnn.web.guard import AccessRules
from protgnn.web.server import bind, is_loopback
from tests.web.conftest import HEADERS, HOST

TOKEN = "only-for-those-who-were-told"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "", "localhost:8765"]
)
def test_another_name_for_this_machine_is_refused(client, host):
    assert client.get("/api/run", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_what_another_page_asks_is_refused(client, headers):
    assert client.post("/api/ask", json={"text": "CCO"}, headers=headers).status_code == 403
    assert client.get("/api/rows", headers=headers).status_code == 403


def test_the_pages_own_origin_is_welcome(client):
    own = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
    assert client.post("/api/ask", json={"text": "CCO"}, headers=own).status_code == 200


def test_what_a_form_could_send_is_refused(explorer):
    app = make_app(explorer, AccessRules(frozenset({HOST}), "protgnn-8765"))
    form = TestClient(app, base_url=f"http://{HOST}")
    form.get("/")
    for address in ("/api/ask", "/api/edits", "/api/undo", "/api/uploads"):
        assert form.post(address, content="text=CCO").status_code == 403


def test_who_has_not_opened_the_page_is_asked_to(explorer):
    app = make_app(explorer, AccessRules(frozenset({HOST}), "protgnn-8765"))
    stranger = TestClient(app, base_url=f"http://{HOST}", headers=HEADERS)
    response = stranger.get("/api/rows")
    assert response.status_code == 409 and "load the page again" in response.json()["error"]


@pytest.mark.parametrize("path", ["/", "/static/main.js", "/theme.css", "/api/run", "/nothing"])
def test_every_answer_is_sealed(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff" and "access-control-allow-origin" not in headers


def test_cookies_are_for_this_page_alone(explorer):
    app = make_app(explorer, AccessRules(frozenset({HOST}), "protgnn-8765"))
    given = TestClient(app, base_url=f"http://{HOST}").get("/").headers["set-cookie"].lower()
    assert "httponly" in given and "samesite=strict" in given


@pytest.fixture
def guarded(explorer) -> TestClient:
    app = make_app(explorer, AccessRules(frozenset({HOST}), "protgnn-8765", TOKEN))
    return TestClient(app, base_url=f"http://{HOST}", headers=HEADERS, follow_redirects=False)


def test_without_the_token_nothing_is_shown(guarded):
    for path in ("/", "/api/run", "/static/main.js", "/theme.css", "/?token=wrong", "/api/run?token=" + TOKEN):
        assert guarded.get(path).status_code == 403


def test_with_the_token_the_page_opens_and_the_address_forgets_it(guarded):
    response = guarded.get(f"/?token={TOKEN}")
    assert response.status_code == 303 and response.headers["location"] == "/"
    assert guarded.get("/").status_code == 200 and guarded.get("/api/run").status_code == 200


def test_only_this_machine_is_served_without_a_token():
    alone = bind("127.0.0.1", 0)
    alone.listening.close()
    assert alone.access.token is None and "token" not in alone.url
    everyone = bind("0.0.0.0", 0)
    everyone.listening.close()
    assert everyone.access.token and everyone.url.endswith(f"?token={everyone.access.token}")
    assert is_loopback("localhost") and is_loopback("::1") and not is_loopback("192.168.1.2")


def test_a_port_that_is_taken_is_refused_in_a_sentence(run_folder, prototype_run, protgnn_command):
    taken = bind("127.0.0.1", 0)
    taken.listening.listen()
    port = taken.listening.getsockname()[1]
    done = protgnn_command("explore", prototype_run, "--port", port, "--no-browser")
    taken.listening.close()
    assert done.status == 1 and "choose another --port" in done.err
    assert protgnn_command("explore", run_folder, "--port", 0, "--no-browser").status == 1, "a plain model"
