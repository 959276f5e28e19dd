"""A server with a task per connection, for tests/services/run: tasks.py PORT"""
import asyncio
import sys


async def add(numbers):
    total = 0
    for number in range(numbers):
        total += number
    await asyncio.sleep(0)
    return total


async def serve(reader, writer):
    while await reader.readline():
        while await reader.readline() not in (b"\r\n", b""):
            pass
        answer = b"the answer is %d\n" % await add(1000)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
        await writer.drain()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
