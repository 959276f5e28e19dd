// README's picture of the page, docs/page.png: it shows what the page shows of the program of `make demo`. To make it again, after
// the page has changed:
//
//   MAGIC_TRACE_PICTURE=1 tests/web/run --binary build/magic-trace readme_picture
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { recordDemo, showFirstCall } from './demo.js';
import { openPage } from './page.js';
import { BINARY, viewTrace } from './viewer.js';

const skip = BINARY === null ? 'no program given: tests/web/run --binary' : false;
const PICTURE = fileURLToPath(new URL('../../docs/page.png', import.meta.url));
const WIDTH = 1200;
const HEIGHT = 740;
const BLOCK = 20; // pixels; the average of a block hardly depends on the font
const DIFFERENT = 24; // of 255
const DIFFERENT_SHARE = 0.05; // of all blocks: the numbers of the recording, and another font

/** @type {Awaited<ReturnType<typeof viewTrace>>} */
let viewer;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;

before(async () => {
  if (skip) return;
  viewer = await viewTrace(recordDemo());
  opened = await openPage({ url: viewer.url, width: WIDTH, height: HEIGHT });
});
after(async () => {
  if (skip) return;
  await opened.close();
  await viewer.close();
});

/**
 * Colours of a picture's blocks, row by row, in a page of its own, which has no policy against it.
 * @param {Buffer} png @returns {Promise<{width: number, height: number, blocks: number[][]}>}
 */
async function blocksOf(png) {
  const page = await opened.page.context().newPage();
  const answer = await page.evaluate(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png.toString('base64')}';
    await image.decode();
    const { width, height } = image;
    const canvas = new OffscreenCanvas(width / ${BLOCK}, height / ${BLOCK}).getContext('2d');
    canvas.imageSmoothingQuality = 'high';
    canvas.drawImage(image, 0, 0, width / ${BLOCK}, height / ${BLOCK});
    const { data } = canvas.getImageData(0, 0, width / ${BLOCK}, height / ${BLOCK});
    return { width, height, blocks: Array.from({ length: data.length / 4 }, (_, i) => [...data.slice(4 * i, 4 * i + 3)]) };
  })()`);
  await page.close();
  return answer;
}

test('the page looks as in the picture that README shows', { skip }, async () => {
  await showFirstCall(opened);
  assert.equal(await opened.page.locator('#panel-details h2').first().innerText(), 'next_prime');
  const taken = await opened.page.screenshot();
  if (process.env.MAGIC_TRACE_PICTURE) writeFileSync(PICTURE, taken);
  const [now, shown] = [await blocksOf(taken), await blocksOf(readFileSync(PICTURE))];
  assert.deepEqual([shown.width, shown.height], [WIDTH, HEIGHT]);
  // The calls and the overview above them are left out: the recording decides how they look.
  const { left, top, bottom } = await opened.page.locator('.overlay').evaluate((/** @type {Element} */ element) => element.getBoundingClientRect().toJSON());
  let compared = 0;
  let different = 0;
  now.blocks.forEach((colour, i) => {
    const x = i % (WIDTH / BLOCK) * BLOCK;
    const y = Math.floor(i / (WIDTH / BLOCK)) * BLOCK;
    if (x + BLOCK > left && y + BLOCK > top && y < bottom) return;
    compared++;
    different += Number(colour.some((value, channel) => Math.abs(value - shown.blocks[i][channel]) > DIFFERENT));
  });
  assert.ok(different < compared * DIFFERENT_SHARE, `${different} of ${compared} parts of the picture differ: see the head of this file`);
});
