"use strict";
// How pages ask their server.

const narrow = matchMedia("(max-width: 34rem)");

class Refused extends Error {
  constructor(status, body) {
    super(body.error || `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(`/api/${path}${narrow.matches ? "?narrow" : ""}`, options);
  } catch {
    throw new Refused(0, { error: "the server does not answer; is it still running?" });
  }
  const answer = await response.json();
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}
