export { removeDataFolder, temporaryDataDir } from './data-dir.js';
export { fixture } from './fixture.js';
export { startApi, type StartedProcess } from './start-process.js';
export { startCollector, type CollectedSpan, type Collector } from './start-collector.js';
export {
  RECEIVER_SETTINGS,
  startReceiver,
  type Answer,
  type Receiver,
  type ReceivedWebhook,
} from './start-receiver.js';
export {
  sharedStack,
  startStack,
  type Finding,
  type Stack,
  type StackStart,
  type StartedStack,
} from './start-stack.js';
