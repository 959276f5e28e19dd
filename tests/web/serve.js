// Serves the page for development and tests, without magic-trace: web/ as it is, with a trace inside, and the same strict
// Content-Security-Policy as the real server's.
//
//   node tests/web/serve.js [PORT] [TRACE.json]      a trace in the form of web/data/embedded_trace.js; without: a made one

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeTrace } from './traces.js';

const WEB = fileURLToPath(new URL('../../web/', import.meta.url));
const TYPES = /** @type {Record<string, string>} */ ({
  '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.svg': 'image/svg+xml',
});

/** The page with a trace in it. @param {string} html @param {unknown} trace */
export function withTrace(html, trace) {
  const text = JSON.stringify(trace).replaceAll('<', '\\u003c');
  return html.replace('</head>', () => `<script type="application/json" id="trace">${text}</script>\n</head>`);
}

/** @param {string} name of a file below web/ @param {unknown} trace */
async function answer(name, trace) {
  const content = await readFile(path.join(WEB, name));
  return name === 'index.html' ? withTrace(content.toString(), trace) : content;
}

/**
 * @param {unknown} trace @param {number} [port] 0: any
 * @returns {Promise<{url: string, close: () => void}>}
 */
export function servePage(trace, port = 0) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const name = pathname === '/' ? 'index.html' : path.posix.normalize(pathname).replace(/^\/app\//, '');
    try {
      const content = await answer(name, trace);
      response.writeHead(200, {
        'Content-Type': TYPES[path.extname(name)] ?? 'application/octet-stream',
        'Content-Security-Policy': "default-src 'self'",
        'Cache-Control': 'no-store',
      });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      const address = /** @type {import('node:net').AddressInfo} */ (server.address());
      resolve({ url: `http://127.0.0.1:${address.port}/`, close: () => server.close() });
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , port, file] = process.argv;
  const trace = file ? JSON.parse(await readFile(file, 'utf8')) : makeTrace();
  const { url } = await servePage(trace, Number(port ?? 8000));
  console.log(url);
}
