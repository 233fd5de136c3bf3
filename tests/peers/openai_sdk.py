"""The official Python client of OpenAI's interface against a real level3. Run by tests/it/openai_sdk.rs, which starts the server and a
model that says what this file expects; BASE_URL and API_KEY say where it is."""

import asyncio
import base64
import os
import re
import struct
import zlib

import openai
from openai import AsyncOpenAI, OpenAI

AT = {"base_url": os.environ["BASE_URL"], "api_key": os.environ["API_KEY"]}
client = OpenAI(**AT)


def user(text):
    return {"role": "user", "content": text}


def png():
    """A picture of one grey pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")


def shows(text, url):
    picture = {"type": "image_url", "image_url": {"url": url, "detail": "low"}}
    return {"role": "user", "content": [{"type": "text", "text": text}, picture]}


def assistant(text):
    return {"role": "assistant", "content": text}


def raises(error, code, do):
    try:
        do()
    except error as raised:
        assert type(raised) is error and raised.code == code, (raised, raised.code)
        return raised
    raise AssertionError(f"no {error.__name__}")


def the_models_are_listed():
    assert [model.id for model in client.models.list()] == ["level3"]
    assert client.models.retrieve("level3").owned_by == "level3"
    raises(openai.NotFoundError, "model_not_found", lambda: client.models.retrieve("gpt-4o"))


def an_answer_comes_whole():
    raw = client.chat.completions.with_raw_response.create(
        model="level3", messages=[user("echo: Grüße 一 🦀")], temperature=0.1, max_tokens=9, metadata={"mine": "x"}
    )
    answer = raw.parse()
    assert answer.choices[0].message.content == "Grüße 一 🦀", answer
    assert answer.choices[0].finish_reason == "stop" and answer.object == "chat.completion"
    assert answer.level3["conversation"] == int(raw.headers["x-level3-conversation"])
    assert answer._request_id == f"turn-{answer.level3['turn']}"


def a_conversation_of_several_turns():
    said, conversations = [], set()
    for number in range(3):
        said.append(user(f"echo: number {number}"))
        if number == 1:
            stream = client.chat.completions.create(model="level3", messages=said, stream=True)
            chunks = list(stream)
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            conversations.add(chunks[0].level3["conversation"])
        else:
            answer = client.chat.completions.create(model="level3", messages=said)
            text = answer.choices[0].message.content
            conversations.add(answer.level3["conversation"])
        assert text == f"number {number}", text
        said.append(assistant(text))
    assert len(conversations) == 1, conversations
    said[1] = assistant("something else")
    fork = client.chat.completions.create(model="level3", messages=[*said, user("echo: forked")])
    assert fork.level3["conversation"] not in conversations
    named = client.chat.completions.create(
        model="level3", messages=[user("echo: named")], metadata={"conversation": str(fork.level3["conversation"])}
    )
    assert named.level3["conversation"] == fork.level3["conversation"]


def tools_run_at_the_server():
    stream = client.chat.completions.create(
        model="level3", messages=[user("multiply")], stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == '[{"product":42}]'
    assert chunks[-1].choices == [] and chunks[-1].usage is None, "this model does not say what it took"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert any(chunk.level3.get("tool_call", {}).get("name") == "execute_sql" for chunk in chunks)
    assert all(choice.delta.tool_calls is None for chunk in chunks for choice in chunk.choices)


def the_same_key_is_the_same_turn():
    def once():
        return client.chat.completions.create(
            model="level3", messages=[user("echo: once")], extra_headers={"Idempotency-Key": "a key"}
        )

    assert once() == once()


def the_streaming_helper_works():
    with client.chat.completions.stream(model="level3", messages=[user("echo: helped")]) as stream:
        assert stream.get_final_completion().choices[0].message.content == "helped"


def an_image_is_shown_and_the_conversation_goes_on():
    said = [shows("see: what is this?", "data:image/png;base64," + base64.b64encode(png()).decode())]
    first = client.chat.completions.create(model="level3", messages=said)
    # The model gives back the address it was shown.
    assert first.choices[0].message.content == said[0]["content"][1]["image_url"]["url"], first
    said += [assistant(first.choices[0].message.content), user("echo: thanks")]
    second = client.chat.completions.create(model="level3", messages=said)
    assert second.choices[0].message.content == "thanks", second
    assert second.level3["conversation"] == first.level3["conversation"]


def an_answer_is_bounded():
    def count(**more):
        return client.chat.completions.create(model="level3", messages=[user("count")], **more).choices[0]

    cut = count(max_tokens=2)
    assert cut.finish_reason == "length" and cut.message.content.startswith("one two\n\n*(cut: "), cut
    assert count(max_completion_tokens=3, max_tokens=2).message.content.startswith("one two three\n"), "the newer word counts"
    whole = count()
    assert (whole.finish_reason, whole.message.content) == ("stop", "one two three four"), whole


def errors_are_the_clients_own():
    def create(**more):
        asked = {"model": "level3", "messages": [user("echo: x")], **more}
        return lambda: client.chat.completions.create(**asked)

    raises(openai.NotFoundError, "model_not_found", create(model="gpt-4o"))
    raises(openai.BadRequestError, "unsupported_parameter", create(n=2))
    assert raises(openai.BadRequestError, None, create(max_tokens=0)).param == "max_tokens"
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    assert raises(openai.BadRequestError, "unsupported_parameter", create(tools=[tool])).param == "tools"
    for url in ["data:image/png;base64,AAAA", "https://example.com/a.png"]:
        refused = raises(openai.BadRequestError, "unsupported_content", create(messages=[shows("what is this?", url)]))
        assert refused.param == "messages[0].content[1]", refused
    raises(openai.NotFoundError, "conversation_not_found", create(metadata={"conversation": "4711"}))
    stranger = OpenAI(base_url=AT["base_url"], api_key="wrong")
    raises(openai.AuthenticationError, "invalid_api_key", lambda: stranger.models.list())
    raises(openai.InternalServerError, "model_failed", create(messages=[user("fail")]))
    # A failure before the first word of a stream has its status.
    raises(openai.InternalServerError, "model_failed", lambda: list(create(messages=[user("fail")], stream=True)()))


async def asynchronously():
    client = AsyncOpenAI(**AT)

    async def whole(text):
        answer = await client.chat.completions.create(model="level3", messages=[user(f"echo: {text}")])
        return answer.choices[0].message.content

    async def pieces(text):
        stream = await client.chat.completions.create(model="level3", messages=[user(f"echo: {text}")], stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert await asyncio.gather(whole("a"), pieces("b"), whole("c"), pieces("d")) == ["a", "b", "c", "d"]
    assert [model.id async for model in client.models.list()] == ["level3"]


def the_example_of_the_document_runs():
    example = re.search(r"```python\n(.*?)```", os.environ["DOCUMENT"], re.S).group(1)
    assert 'base_url="http://127.0.0.1:8000/v1"' in example and 'api_key="any"' in example, example
    example = example.replace("http://127.0.0.1:8000/v1", AT["base_url"]).replace('"any"', repr(AT["api_key"]))
    printed = []
    exec(example, {"print": lambda *said, **_: printed.extend(said)})
    assert "".join(printed) == "There are 3 open tasks.", printed


for story in [
    the_models_are_listed,
    an_answer_comes_whole,
    a_conversation_of_several_turns,
    tools_run_at_the_server,
    the_same_key_is_the_same_turn,
    the_streaming_helper_works,
    an_image_is_shown_and_the_conversation_goes_on,
    an_answer_is_bounded,
    errors_are_the_clients_own,
    lambda: asyncio.run(asynchronously()),
    the_example_of_the_document_runs,
]:
    story()
print(f"all well with openai {openai.__version__}")
