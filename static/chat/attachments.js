// Images and text files that go with the message that is being written.

import { h } from "../core/dom.js";
import { IMAGE_TYPES, MAX_IMAGES } from "../core/images.js";
import { words } from "../core/words.js";
import { button, iconButton } from "../ui/button.js";

/** The types that a file dialog offers beside images. */
const TEXT_TYPES = ["text/*", "application/json", ".csv", ".tsv", ".json", ".jsonl", ".md", ".log", ".sql", ".yaml", ".toml"];

/** The strip above the field, the button and the dialog. `changed()` is told of each change, `suggest(text)` is asked to write something. */
export class Attachments {
  constructor({ changed, suggest, focus }) {
    Object.assign(this, { changed, suggest, focus });
    this.images = [];
    this.files = [];
    this.strip = h("div", { class: "strip", hidden: true, "data-testid": "images" });
    this.input = h("input", { type: "file", accept: [...IMAGE_TYPES, ...TEXT_TYPES].join(","), multiple: true, hidden: true });
    this.button = iconButton("image", words.chat.files, () => this.input.click(), { class: "image", "data-testid": "add-image" });
  }

  get isEmpty() {
    return this.images.length === 0 && this.files.length === 0;
  }

  set drafts(drafts) {
    this.kept = drafts;
    this.refresh();
  }

  /** Shows what was kept of the conversation that is shown. */
  refresh() {
    const [images, files] = [this.kept.images(), this.kept.files()];
    if (images === this.images && files === this.files) return;
    this.images = images;
    this.files = files;
    this.show();
  }

  /** Adds files of a paste, a drop or the dialog, one list after the other; returns what is not taken, in sentences. */
  add(list) {
    return (this.adds = Promise.allSettled([this.adds]).then(() => this.read(list)));
  }

  async read(list) {
    const { isTextFile, MAX_FILES_BYTES, readImages, readTextFiles } = await import("./files.js");
    const texts = list.filter((file) => !IMAGE_TYPES.includes(file.type) && isTextFile(file));
    const rest = list.filter((file) => !texts.includes(file));
    const { images, problems } = await readImages(rest, this.images.length);
    const used = this.files.reduce((sum, { text }) => sum + new TextEncoder().encode(text).length, 0);
    const read = await readTextFiles(texts, MAX_FILES_BYTES - used);
    this.images = [...this.images, ...images].slice(0, MAX_IMAGES);
    this.files = [...this.files, ...read.files];
    await this.show();
    return [...problems, ...read.problems];
  }

  /** The message with its files. */
  async withFiles(content) {
    return (await import("./files.js")).withFiles(content, this.files);
  }

  /** Takes all of it out. */
  take() {
    const { images, files } = this;
    this.images = [];
    this.files = [];
    this.show();
    return { images, files };
  }

  /** Puts images back, in front of what came meanwhile. */
  giveBack(images) {
    this.images = [...images, ...this.images].slice(0, MAX_IMAGES);
    this.show();
  }

  /** Shows and keeps what there is. Small pictures come with the first image. */
  async show() {
    this.strip.hidden = this.isEmpty;
    this.kept?.keepImages(this.images);
    this.kept?.keepFiles(this.files);
    this.changed();
    const { images, files } = this;
    const { thumbnails } = images.length > 0 ? await import("./thumbnails.js") : {};
    // Something came or went meanwhile, and is shown by who changed it.
    if (images !== this.images || files !== this.files) return;
    const without = (name) => (index) => {
      this[name] = this[name].filter((_, at) => at !== index);
      this.show();
      this.focus();
    };
    const chips = files.map((file, index) => this.fileNode(file, () => without("files")(index)));
    this.strip.replaceChildren(...(thumbnails ? [thumbnails(images, without("images"))] : []), ...chips);
  }

  fileNode({ name, text }, remove) {
    const table = /\.(csv|tsv)$/i.test(name) ? button(words.chat.fileTable, () => this.suggest(words.chat.fileTableSay(name)), { kind: "quiet" }) : "";
    const size = h("span", { class: "file-size" }, words.chat.fileLines(text ? text.split("\n").length : 0));
    return h("div", { class: "file-chip", "data-testid": "file-chip" }, h("bdi", {}, name), size, table, iconButton("close", words.chat.fileRemove(name), remove));
  }
}
