// The microphone as frames of samples, 16,000 a second, without the page's own voice as far as the
// browser can take that out.

import { createResampler } from "./wav.js";

/** The samples a second that servers hear. */
export const RATE = 16_000;

/** True if this browser can record. */
export const canRecord = (from = globalThis) => Boolean(from.navigator?.mediaDevices?.getUserMedia && from.AudioContext && from.AudioWorkletNode);

/** A context that records at this rate, if the browser lets it. Some take a microphone only at the rate of the machine. */
function contextFor(from, stream) {
  try {
    const context = new from.AudioContext({ sampleRate: RATE });
    return { context, source: context.createMediaStreamSource(stream) };
  } catch {
    const context = new from.AudioContext();
    return { context, source: context.createMediaStreamSource(stream) };
  }
}

/** Opens the microphone: `onFrame(frame)` is told what it hears, `onLost()` that it is gone. Gives a way to close it. Rejects with the browser's error. */
export async function openMicrophone({ onFrame, onLost, from = globalThis }) {
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
  const stream = await from.navigator.mediaDevices.getUserMedia({ audio });
  const close = () => stream.getTracks().forEach((track) => track.stop());
  try {
    const { context, source } = contextFor(from, stream);
    await context.audioWorklet.addModule(new URL("recorder.js", import.meta.url));
    const recorder = new from.AudioWorkletNode(context, "level3-recorder", { numberOfOutputs: 0 });
    const resampled = createResampler(context.sampleRate, RATE);
    recorder.port.onmessage = ({ data }) => onFrame(resampled(data));
    source.connect(recorder);
    await context.resume();
    for (const track of stream.getTracks()) track.onended = onLost;
    return () => {
      recorder.port.onmessage = null;
      close();
      context.close().catch(() => undefined);
    };
  } catch (error) {
    close();
    throw error;
  }
}
