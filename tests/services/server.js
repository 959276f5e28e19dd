// A server for tests/services/run: server.js PORT
const http = require('http');

http.createServer((request, response) => {
  const numbers = new Map();
  for (let i = 0; i < 1000; i++) numbers.set(`k${i}`, i);
  let total = 0;
  for (const value of numbers.values()) total += value;
  const answer = `the answer is ${total}\n`;
  response.writeHead(200, {'Content-Length': answer.length});
  response.end(answer);
}).listen(Number(process.argv[2]), '127.0.0.1');
