import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Longest path of a socket, bytes: 107 on Linux, 103 on macOS. */
const LONGEST_PATH = 103;

/** A path of the server's socket that the system accepts. */
export interface SocketPath {
  readonly path: string;
  /** Removes the temporary link of a long path. */
  readonly forget: () => void;
}

/** The socket in a data folder, through which other processes ask its server to keep a state. */
export const socketOf = (folder: string): SocketPath => {
  const path = join(resolve(folder), 'server.socket');
  if (Buffer.byteLength(path) <= LONGEST_PATH) return { path, forget: () => undefined };
  const short = mkdtempSync(join(tmpdir(), 'event-store-'));
  symlinkSync(resolve(folder), join(short, 'data'));
  return {
    path: join(short, 'data', 'server.socket'),
    forget: () => rmSync(short, { recursive: true, force: true }),
  };
};
