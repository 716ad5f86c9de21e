import type { ExportReport } from '../contracts/export.js';
import { ExportVerifier } from './export-verifier.js';

/** Verifies an export from its bytes. */
export const verifyExport = async (
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<ExportReport> => {
  const verifier = new ExportVerifier();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let [rest, isReadable] = ['', true];
  const read = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) isReadable &&= verifier.line(line);
  };
  try {
    for await (const part of parts) {
      read(decoder.decode(part, { stream: true }));
      if (!isReadable) return verifier.report();
    }
    read(decoder.decode());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    return verifier.broken('the next line, or one after it, is not UTF-8');
  }
  if (rest === '') return verifier.report();
  verifier.line(rest);
  return verifier.broken('the last line has no line end: the file was cut');
};
