/** What is known of work on demand. */
export type RunState<T> =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly done: number; readonly total: number }
  | { readonly is: 'finished'; readonly at: string; readonly result: T }
  | { readonly is: 'failed'; readonly at: string; readonly error: string };

/** Work that a person starts and pages look at. It runs once at a time. */
export class Run<T> {
  private current: RunState<T> = { is: 'idle' };

  constructor(private readonly work: (progress: (done: number, total: number) => void) => Promise<T>) {}

  get state(): RunState<T> {
    return this.current;
  }

  start(): void {
    if (this.current.is === 'running') return;
    this.current = { is: 'running', done: 0, total: 1 };
    void this.work((done, total) => (this.current = { is: 'running', done, total })).then(
      (result) => (this.current = { is: 'finished', at: new Date().toISOString(), result }),
      (error: unknown) => {
        const said = error instanceof Error ? error.message : 'failed';
        this.current = { is: 'failed', at: new Date().toISOString(), error: said };
      },
    );
  }
}
