import { removeDataFolder } from './data-dir.js';
import { preparedDataDir } from './prepared-data-dir.js';
import { startStackProcess, type StackProcess } from './stack-process.js';
import { RECEIVER_SETTINGS } from './start-receiver.js';

/** A stack costs CPU while it waits for the next spec. */
const UNUSED_FOR_MS = 15_000;

interface Running {
  readonly folder: string;
  readonly process: StackProcess;
}

let running: Promise<Running> | undefined;
let unused: NodeJS.Timeout | undefined;

const start = async (): Promise<Running> => {
  const folder = await preparedDataDir();
  return {
    folder,
    process: await startStackProcess(folder, RECEIVER_SETTINGS),
  };
};

/** @returns the data folder of the stack, which it starts when there is none */
export const useStack = async (): Promise<string> => {
  clearTimeout(unused);
  running ??= start();
  try {
    return (await running).folder;
  } catch (error) {
    running = undefined;
    throw error;
  }
};

/** The stack stays for the next spec, but not for long. */
export const releaseStack = (): void => {
  clearTimeout(unused);
  unused = setTimeout(() => void stopStack(), UNUSED_FOR_MS);
};

export const stopStack = async (): Promise<void> => {
  const stopping = running;
  running = undefined;
  const stack = await stopping?.catch(() => undefined);
  if (!stack) return;
  await stack.process.stop();
  removeDataFolder(stack.folder);
};
