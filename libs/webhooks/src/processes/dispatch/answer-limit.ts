import type { Socket } from 'node:net';
import { AttemptFailed } from './attempt-errors.js';

/** Bytes of one answer with everything around its body: interim answers, headers, the framing of chunks. */
const ANSWER_BYTES = 262_144;

/**
 * Closes a connection, as an invalid response, when the answer to one request takes more bytes than any answer has a
 * use for. HTTP knows parts without a limit that an HTTP client reads over in silence (interim answers, chunk
 * extensions, empty lines, the reason phrase): poured in, they would cost a worker all its time until the deadline.
 * One request at a time, as without pipelining.
 */
export const limitAnswers = (socket: Socket): void => {
  let writtenBytes = 0;
  let readBytes = 0;
  socket.on('readable', () => {
    if (socket.bytesWritten !== writtenBytes) {
      // The next request: its answer is counted from here.
      writtenBytes = socket.bytesWritten;
      ({ bytesRead: readBytes } = socket);
    }
    if (socket.bytesRead - readBytes > ANSWER_BYTES) socket.destroy(new AttemptFailed('invalid_response'));
  });
};
