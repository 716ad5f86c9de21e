import { statfsSync } from 'node:fs';
import type { Registry } from 'prom-client';
import type { Config } from '../config/settings.js';
import { readGauge } from '../telemetry/metrics.js';

const MEBIBYTE = 1024 * 1024;

/** Bytes that a program without special rights can still write to the disk of a folder. */
export const freeBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/** As {@link freeBytes}; -1 when the folder cannot be read. */
const freeIfReadable = (folder: string): number => {
  try {
    return freeBytes(folder);
  } catch {
    return -1;
  }
};

/**
 * Whether the disk of `DISK_FOLDER` keeps `DISK_RESERVE_MIB` free. The reserve is the room in which the service
 * finishes the work it has accepted. Without a folder, for stores on other machines, it counts as kept.
 */
export class DiskReserve {
  constructor(private readonly config: Pick<Config, 'DISK_FOLDER' | 'DISK_RESERVE_MIB'>) {}

  /** A folder that cannot be read keeps nothing. */
  isKept(): boolean {
    const { DISK_FOLDER: folder, DISK_RESERVE_MIB: reserve } = this.config;
    return folder === undefined || freeIfReadable(folder) >= reserve * MEBIBYTE;
  }
}

/** Metrics of the watched disk; absent without a folder. */
export const measureDisk = (
  { DISK_FOLDER: folder, DISK_RESERVE_MIB: reserve }: Pick<Config, 'DISK_FOLDER' | 'DISK_RESERVE_MIB'>,
  registry: Registry,
): void => {
  if (folder === undefined) return;
  const free = 'Free bytes on the disk of DISK_FOLDER; -1 when it cannot be read';
  readGauge(registry, 'disk_free_bytes', free, () => freeIfReadable(folder));
  const kept = 'Free bytes below which new work is refused';
  readGauge(registry, 'disk_reserve_bytes', kept, () => reserve * MEBIBYTE);
};
