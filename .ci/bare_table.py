"""What must hold where the wheel was installed with its extra `web`: the page is served."""

import json
import re
import subprocess
import sys
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, Request, build_opener

fiveup = Path(sys.executable).with_name("fiveup")
command = [str(fiveup), "play", "--no-browser", "--port", "0", "--seed", "7"]
opener = build_opener(HTTPCookieProcessor(CookieJar()))


def get(path: str) -> str:
    """Return what the server answers."""
    with opener.open(address + path) as answer:
        text: str = answer.read().decode()
    return text


def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON that the server answers to some other JSON."""
    headers = {"Content-Type": "application/json"}
    with opener.open(Request(address + path, json.dumps(body).encode(), headers)) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        address = said.split()[4].rstrip("/")
        for page in ("/", "/study"):
            content = get(page)
            assets = re.findall(r'(?:src|href)="(/assets/[^"]+)"', content)
            assert len(assets) >= 2, content[:500]
            for asset in assets:
                assert len(get(asset)) > 500, asset
        state = post("/api/tables", {})
        assert state["frames"][0]["felt"].startswith("<svg"), state
        move = {"move": state["choices"][0]["move"], "version": state["version"]}
        moved = post(f"/api/tables/{state['table']}/move", move)
        assert moved["version"] > state["version"], moved
    finally:
        server.terminate()
print(f"the wheel serves its page: {said.strip()}")
