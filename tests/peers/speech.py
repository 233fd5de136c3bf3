"""Speech servers without a cloud, one for both ways: espeak-ng speaks, and Moonshine, whose model comes with its package, hears. They speak the
forms that docs/voice.md describes. Run by tests/browser/real_speech.rs; the first line of the output is the address.

espeak-ng is under the GPL. It is a program of its own here, started for each sentence, and nothing of it is in level3."""

import array
import io
import json
import subprocess
import tempfile
import wave
from http.server import BaseHTTPRequestHandler, HTTPServer

from moonshine_cpp import MoonshineModel

# The samples a second that the model hears.
RATE = 16_000
model = MoonshineModel()


def spoken(text):
    asked = ["espeak-ng", "-v", "en-us", "-s", "145", "--stdin", "--stdout"]
    return subprocess.run(asked, input=text.encode(), capture_output=True, check=True, timeout=10).stdout


def at_rate(sound):
    """A WAV file of one channel at the rate of the model: each sample stands between its two neighbours."""
    with wave.open(io.BytesIO(sound)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2), "one channel of 16 bits is expected"
        step = file.getframerate() / RATE
        # A server that streams does not know the length, and writes the largest.
        samples = array.array("h", file.readframes(min(file.getnframes(), len(sound) // 2)))
    whole = array.array("h")
    for index in range(int((len(samples) - 1) / step)):
        at, part = divmod(index * step, 1)
        before, behind = samples[int(at)], samples[int(at) + 1]
        whole.append(round(before + (behind - before) * part))
    return whole


def heard(sound):
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        with wave.open(file, "wb") as written:
            written.setnchannels(1)
            written.setsampwidth(2)
            written.setframerate(RATE)
            written.writeframes(at_rate(sound).tobytes())
        file.flush()
        return model.transcribe_wav(file.name)


def fields(kind, body):
    """The fields of a form, by name."""
    boundary = b"--" + kind.split("boundary=")[1].encode()
    parts = (part.partition(b"\r\n\r\n") for part in body.split(boundary)[1:-1])
    return {head.split(b'name="')[1].split(b'"')[0].decode(): content.removesuffix(b"\r\n") for head, _, content in parts}


class Speech(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/audio/speech":
            asked = json.loads(body)
            assert asked["model"] and asked["response_format"] == "wav", asked
            self.answer("audio/wav", spoken(asked["input"]))
        elif self.path == "/v1/audio/transcriptions":
            form = fields(self.headers["Content-Type"], body)
            assert form["model"] and form["response_format"] == b"json", list(form)
            self.answer("application/json", json.dumps({"text": heard(form["file"])}).encode())
        else:
            self.send_error(404)

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = HTTPServer(("127.0.0.1", 0), Speech)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
