export interface EventStore {
  readonly name: string;
}
