// Samples as a WAV file of one channel, and at another rate. Pure.

const HEAD = 44;

/** Frames of samples from -1 to 1 as the bytes of a file. */
export function wavOf(frames, rate) {
  const count = frames.reduce((sum, frame) => sum + frame.length, 0);
  const bytes = new ArrayBuffer(HEAD + count * 2);
  const view = new DataView(bytes);
  const text = (at, letters) => [...letters].forEach((letter, index) => view.setUint8(at + index, letter.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, HEAD - 8 + count * 2, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  // PCM, one channel.
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, count * 2, true);
  let at = HEAD;
  for (const frame of frames) {
    for (const sample of frame) {
      view.setInt16(at, Math.round(Math.max(-1, Math.min(1, sample)) * 0x7fff), true);
      at += 2;
    }
  }
  return bytes;
}

/** Brings frames of one rate to another: each new sample is the mean of those that it stands for. A lower rate only; an equal one changes nothing. */
export function createResampler(from, to) {
  const step = from / to;
  let rest = new Float32Array(0);
  let place = 0;
  return (frame) => {
    if (step <= 1) return frame;
    const all = new Float32Array(rest.length + frame.length);
    all.set(rest);
    all.set(frame, rest.length);
    const samples = [];
    while (place + step <= all.length) {
      const [begin, end] = [Math.floor(place), Math.max(Math.floor(place) + 1, Math.floor(place + step))];
      let sum = 0;
      for (let at = begin; at < end; at += 1) sum += all[at];
      samples.push(sum / (end - begin));
      place += step;
    }
    const used = Math.floor(place);
    rest = all.slice(used);
    place -= used;
    return Float32Array.from(samples);
  };
}
