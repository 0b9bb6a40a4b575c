# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Recorder: the real client talks to the real server through it, and it keeps what went by. Frames
are passed on untouched; one request is under way at a time."""

import threading

import zmq

import real
from real import mq, protocol

TIMEOUT_S = 30


class Recorder:
    def __init__(self, server):
        self.context = zmq.Context()
        self.front, self.back = self.context.socket(zmq.ROUTER), self.context.socket(zmq.DEALER)
        port = self.front.bind_to_random_port("tcp://127.0.0.1")
        self.back.connect(server)
        self.stop = threading.Event()
        self.request = self.reply = None
        self.thread = threading.Thread(target=self._pass_on, daemon=True)
        self.thread.start()
        self.client = mq.MessageQueueClient(f"tcp://127.0.0.1:{port}", self.context)

    def _pass_on(self):
        poller, identity = zmq.Poller(), None
        poller.register(self.front, zmq.POLLIN)
        poller.register(self.back, zmq.POLLIN)
        while not self.stop.is_set():
            ready = dict(poller.poll(100))
            if self.front in ready:
                identity, *self.request = self.front.recv_multipart()
                self.back.send_multipart(self.request)
            if self.back in ready:
                self.reply = self.back.recv_multipart()
                self.front.send_multipart([identity, *self.reply])

    def call(self, name, *payloads):
        """(request frames, reply frames, result), as the real client made, got and read them."""
        kind = real.RequestType[name]
        future = self.client.submit_request(kind, list(payloads), protocol.get_response_class(kind))
        result = future.result(timeout=TIMEOUT_S)
        return self.request, self.reply, result

    def close(self):
        self.client.close()
        self.stop.set()
        self.thread.join()
        self.context.destroy(linger=0)
