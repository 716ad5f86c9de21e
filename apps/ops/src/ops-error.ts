/** A command that cannot do its work. Its message is one clear line for the operator; the exit code is 1. */
export class OpsError extends Error {
  override readonly name = 'OpsError';
}
