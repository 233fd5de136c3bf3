// Runs on the browser's thread for sound: hands each piece of what the microphone hears to the
// page, in frames of 20 ms.

class Recorder extends AudioWorkletProcessor {
  constructor() {
    super();
    this.frame = new Float32Array(Math.round(sampleRate / 50));
    this.filled = 0;
  }

  process([input]) {
    for (const sample of input[0] ?? []) {
      this.frame[this.filled] = sample;
      this.filled += 1;
      if (this.filled < this.frame.length) continue;
      this.port.postMessage(this.frame);
      this.filled = 0;
    }
    return true;
  }
}

registerProcessor("level3-recorder", Recorder);
