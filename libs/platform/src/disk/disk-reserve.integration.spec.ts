import { expect, it } from '@jest/globals';
import { tmpdir } from 'node:os';
import { Registry } from 'prom-client';
import { DiskReserve, freeBytes, measureDisk } from './disk-reserve.js';

const MORE_THAN_ANY_DISK = 1_000_000_000;

it('keeps a reserve that is free, and not one that is larger than the disk', () => {
  const folder = tmpdir();
  expect(freeBytes(folder)).toBeGreaterThan(0);
  expect(new DiskReserve({ DISK_FOLDER: folder, DISK_RESERVE_MIB: 0 }).isKept()).toBe(true);
  expect(new DiskReserve({ DISK_FOLDER: folder, DISK_RESERVE_MIB: MORE_THAN_ANY_DISK }).isKept()).toBe(false);
});

it('keeps nothing in a folder that cannot be read, and everything without a folder', () => {
  const missing = new DiskReserve({ DISK_FOLDER: '/no/such/folder', DISK_RESERVE_MIB: 0 });
  expect(missing.isKept()).toBe(false);
  const elsewhere = new DiskReserve({ DISK_FOLDER: undefined, DISK_RESERVE_MIB: MORE_THAN_ANY_DISK });
  expect(elsewhere.isKept()).toBe(true);
});

it('looks at the disk again after 250 ms', () => {
  let now = 0;
  const config = { DISK_FOLDER: tmpdir(), DISK_RESERVE_MIB: MORE_THAN_ANY_DISK };
  const disk = new DiskReserve(config, () => now);
  expect(disk.isKept()).toBe(false);
  config.DISK_RESERVE_MIB = 0;
  now = 249;
  expect(disk.isKept()).toBe(false);
  now = 250;
  expect(disk.isKept()).toBe(true);
});

it('measures -1 free bytes in a folder that cannot be read, and leaves other metrics alone', async () => {
  const registry = new Registry();
  measureDisk({ DISK_FOLDER: '/no/such/folder', DISK_RESERVE_MIB: 1 }, registry);
  expect(await registry.metrics()).toMatch(/^disk_free_bytes -1$/m);
});
