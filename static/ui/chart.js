// A chart of rows: a line for dates, bars for labels. The library comes with the first one. The
// table stays: a chart is read beside it.

import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { wordsOf } from "../core/words.js";
import { select } from "./forms.js";
import { dashOf, hatch, paintMark } from "./chart-marks.js";
import { chartable, chartOf, figuresBeside, MOST_SERIES, timesUnder } from "./chart-data.js";
import { library } from "./script.js";

const { chart: words } = await wordsOf("chart");

const EVERY = "every";

/** `<rows-chart>`: `show(table)` draws a table of `readTable`. */
export class RowsChart extends HTMLElement {
  async show(table) {
    this.table = table;
    this.className = "rows-chart";
    this.dataset.testid = "rows-chart";
    const { xs, ys } = chartable(table);
    this.columns = { xs, ys };
    this.x = xs[0].index;
    this.y = String(ys[0].index);
    this.canvas = h("div", { class: "chart-canvas" });
    this.legend = h("ul", { class: "chart-legend" });
    this.said = h("p", { class: "visually-hidden", role: "status" });
    this.replaceChildren(this.pickers(xs, ys), this.canvas, this.legend, this.said);
    try {
      const style = styles(import.meta.url, "../vendor/uplot-1.6.32.min.css", "chart.css");
      [this.UPlot] = await Promise.all([library("uplot-1.6.32.iife.min.js", "uPlot"), style]);
    } catch {
      this.canvas.replaceChildren(h("p", { class: "problem", role: "alert" }, words.broken));
      return;
    }
    this.draw();
  }

  connectedCallback() {
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this);
    this.themes = matchMedia("(prefers-color-scheme: dark)");
    this.redraw = () => this.draw();
    this.themes.addEventListener("change", this.redraw);
    // The look that is chosen in the settings, while this chart is out of sight.
    this.look = new MutationObserver(this.redraw);
    this.look.observe(document.documentElement, { attributeFilter: ["data-theme", "data-text"] });
  }

  disconnectedCallback() {
    this.watch.disconnect();
    this.themes.removeEventListener("change", this.redraw);
    this.look.disconnect();
    this.plot?.destroy();
    this.plot = undefined;
  }

  pickers(xs, ys) {
    const named = (columns) => columns.map(({ index, name }) => [String(index), name]);
    const up = ys.length > 1 && ys.length <= MOST_SERIES ? [...named(ys), [EVERY, words.every]] : named(ys);
    const pick = (label, options, value, changed) => h("label", { class: "chart-pick" }, h("span", {}, label), select(options, value, changed));
    return h(
      "div",
      { class: "chart-picks" },
      pick(words.up, up, this.y, (y) => ((this.y = y), this.draw())),
      pick(words.across, named(xs), String(this.x), (x) => ((this.x = Number(x)), this.draw())),
    );
  }

  draw() {
    if (!this.UPlot || !this.isConnected) return;
    const ys = this.y === EVERY ? this.columns.ys.map(({ index }) => index) : [Number(this.y)];
    const chart = chartOf(this.table, this.x, ys, Date.now());
    this.showLegend(chart);
    this.plot?.destroy();
    const marks = [...this.legend.querySelectorAll("canvas")];
    const colours = marks.map((mark) => getComputedStyle(mark).color);
    marks.forEach((mark, index) => paintMark(mark, chart.kind, index, colours[index]));
    this.plot = new this.UPlot(this.options(chart, colours), dataOf(chart), this.canvas);
    const named = chart.series.map(({ name }) => name).join(", ");
    const said = words.said(words.kind[chart.kind], named, this.table.columns[this.x].name, chart.x.length);
    this.said.textContent = said;
    const drawn = this.canvas.querySelector("canvas");
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", said);
  }

  showLegend({ series }) {
    const marks = series.map(({ name }, index) => h("li", { dir: "auto" }, h("canvas", { class: `chart-${index + 1}`, "aria-hidden": "true" }), name));
    this.legend.replaceChildren(...marks);
  }

  options(chart, colours) {
    const own = getComputedStyle(this);
    const high = Math.round(parseFloat(own.fontSize));
    const axis = { stroke: own.color, grid: { stroke: own.borderColor, width: 1 }, ticks: { show: false }, font: `${high}px ${own.fontFamily}` };
    const isLine = chart.kind === "line";
    const bars = this.UPlot.paths.bars({ size: [0.9, 64] });
    const series = chart.series.map(({ name }, index) => ({
      label: name,
      stroke: colours[index],
      width: 2,
      spanGaps: false,
      ...(isLine ? { dash: dashOf(index), points: { show: chart.x.length <= 60, size: 5 } } : { fill: ({ ctx }) => hatch(ctx, index, colours[index]), paths: bars, points: { show: false } }),
    }));
    const short = (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text);
    const places = { ...axis, grid: { show: false }, splits: () => placesIn(chart, this.canvas.clientWidth), values: (_, splits) => splits.map((at) => short(chart.labels[at] ?? "")) };
    const times = { ...axis, space: 90, values: (_, splits, __, ___, step) => timesUnder(splits, step, Date.now()) };
    return {
      width: this.canvas.clientWidth || 300,
      height: this.canvas.clientHeight || 300,
      legend: { show: false },
      cursor: { show: isLine, drag: { x: false, y: false } },
      scales: { x: { time: isLine, ...(isLine ? {} : { range: (_, low, high) => [low - 0.6, high + 0.6] }) }, y: isLine ? {} : { range: (_, low, high) => [Math.min(0, low), Math.max(0, high) * 1.05 || 1] } },
      axes: [isLine ? times : places, { ...axis, size: (_, labels) => widthFor(labels, high), values: (_, splits, __, ___, step) => figuresBeside(splits, step) }],
      series: [{}, ...series],
    };
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas ?? {};
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height });
  }
}

/** The width of an axis in pixels that has room for the longest of its labels; figures are about as wide as 0.6 of their size. */
const widthFor = (labels, high) => Math.max(64, 16 + 0.6 * high * Math.max(0, ...(labels ?? []).map((label) => label.length)));

/** The points as the library wants them. Bars of several series stand beside each other: each has a place of its own in the group. */
function dataOf({ kind, x, series }) {
  const many = series.length;
  if (kind === "line" || many === 1) return [x, ...series.map(({ values }) => values)];
  const all = x.flatMap((at) => series.map((_, index) => at + (0.8 * (index - (many - 1) / 2)) / many));
  return [all, ...series.map(({ values }, own) => values.flatMap((value) => series.map((_, index) => (index === own ? value : null))))];
}

/** The places that have a name under them: as many as there is room for. */
function placesIn({ x }, width) {
  const each = Math.ceil((x.length * 90) / Math.max(width - 64, 90));
  return x.filter((at) => at % each === 0);
}

customElements.define("rows-chart", RowsChart);
