// The marks that tell the series of a chart apart, besides their colours: dashes of lines, hatches
// of bars. The legend is painted with the same.

/** Dashes, in pixels of the page. */
const DASHES = [[], [10, 4], [2, 4], [10, 4, 2, 4], [5, 3], [12, 4, 2, 4, 2, 4]];
/** Lines of a hatch within a tile, which goes on at its edges; without lines a bar is full. */
const UP = [[0, 8, 8, 0], [-1, 1, 1, -1], [7, 9, 9, 7]];
const DOWN = UP.map(([x, y, toX, toY]) => [8 - x, y, 8 - toX, toY]);
const HATCHES = [[], UP, DOWN, [[0, 4, 8, 4]], [[4, 0, 4, 8]], [...UP, ...DOWN]];
const TILE = 8;
/** A bar has a body between the lines of its hatch. */
const BODY = 0.15;
const MARK = { width: 32, height: 12 };

/** The dash of the series at this index, in pixels of a canvas. */
export const dashOf = (index) => DASHES[index].map((length) => length * devicePixelRatio);

/** The fill of the bars of the series at this index. */
export function hatch(context, index, colour) {
  const lines = HATCHES[index];
  if (lines.length === 0) return colour;
  const tile = canvasOf(document.createElement("canvas"), { width: TILE, height: TILE });
  tile.fillStyle = tile.strokeStyle = colour;
  tile.globalAlpha = BODY;
  tile.fillRect(0, 0, TILE, TILE);
  tile.globalAlpha = 1;
  tile.lineWidth = 1.5;
  for (const line of lines) stroke(tile, line);
  return context.createPattern(tile.canvas, "repeat");
}

/** Paints the mark of a series in the legend. */
export function paintMark(canvas, kind, index, colour) {
  const { width, height } = MARK;
  const context = canvasOf(canvas, MARK);
  context.lineWidth = 2;
  context.strokeStyle = colour;
  if (kind === "line") {
    context.setLineDash(DASHES[index]);
    stroke(context, [0, height / 2, width, height / 2]);
    return;
  }
  context.strokeRect(1, 1, width - 2, height - 2);
  // A pattern lies on the pixels of the canvas, as in the chart.
  context.resetTransform();
  context.fillStyle = hatch(context, index, colour);
  context.fillRect(0, 0, canvas.width, canvas.height);
}

/** A canvas of this size in pixels of the page, to draw in by them. */
function canvasOf(canvas, { width, height }) {
  Object.assign(canvas, { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) });
  const context = canvas.getContext("2d");
  context.scale(canvas.width / width, canvas.height / height);
  return context;
}

function stroke(context, [x, y, toX, toY]) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(toX, toY);
  context.stroke();
}
