"""A server with a thread per connection, for tests/services/run: threads.py PORT"""
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one write

    def do_GET(self):  # pylint: disable=invalid-name
        total = 0
        for number in range(1000):
            total += number
        answer = b"the answer is %d\n" % total
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
