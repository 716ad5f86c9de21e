export { removeDataFolder, temporaryDataDir } from './data-dir.js';
export { startApi, type StartedApi } from './start-api.js';
export { startCollector, type CollectedSpan, type Collector } from './start-collector.js';
export {
  RECEIVER_SETTINGS,
  startReceiver,
  type Answer,
  type Receiver,
  type ReceivedWebhook,
} from './start-receiver.js';
export { sharedStack, startStack, type Stack, type StackStart, type StartedStack } from './start-stack.js';
