// Many small pictures on one large one, each under its name: made in a browser, since nothing else
// here draws.

/** The space around each picture, and the height of a name. */
const GAP = 24;
const NAME = 28;
/** No side of a sheet is longer: pictures in WebP have 16,383 pixels at most, and eyes have less. */
const WIDEST = 5000;

const BEGIN = `
  document.body.style.cssText = "margin: 0; background: #8a8a8a; font: 16px sans-serif; color: #fff";
  const sheet = document.body.appendChild(document.createElement("div"));
  sheet.style.cssText = "display: grid; width: max-content; padding: " + arguments[2] + "px; gap: " + arguments[2] + "px; grid-template-columns: repeat(" + arguments[0] + ", " + arguments[1] + "px)";`;

const ADD = `
  const [name, data, width, height, line, done] = arguments;
  const figure = document.querySelector("div").appendChild(document.createElement("figure"));
  figure.style.margin = 0;
  const caption = figure.appendChild(document.createElement("figcaption"));
  caption.textContent = name;
  caption.style.height = line + "px";
  const image = figure.appendChild(new Image(width, height));
  image.style.display = "block";
  image.src = "data:image/png;base64," + data;
  image.decode().then(() => done(), () => done());`;

/** How many stand beside each other, so that the sheet is about a square. */
function columnsOf(count, width, height) {
  const square = Math.ceil(Math.sqrt((count * height) / width));
  return Math.max(1, Math.min(square, count, Math.floor((WIDEST - GAP) / (width + GAP))));
}

/** The sheet of `pictures`, `[{ name, data }]` with PNGs in base64, each shown `width` by `height` pixels large, in a format of `Page.captureScreenshot`. */
export async function sheetOf(browser, pictures, [width, height], format) {
  await browser.go("about:blank");
  await browser.media({});
  await browser.js(BEGIN, columnsOf(pictures.length, width, height), width, GAP);
  for (const { name, data } of pictures) await browser.later(ADD, name, data, width, height, NAME);
  const whole = await browser.js(`const { width, height } = document.querySelector("div").getBoundingClientRect(); return [Math.ceil(width), Math.ceil(height)]`);
  await browser.size(...whole);
  const { data } = await browser.cdp("Page.captureScreenshot", format);
  return data;
}
