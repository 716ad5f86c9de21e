import { endProcess, identify, type ProcessIdentity } from './process-identity.js';
import { readJson, writePrivateJsonIfRoom } from './private-file.js';

const ORPHAN_PATIENCE_MS = 4_000;

/** The children of this stack, on disk, so that a start after a crash can identify its orphans. */
export class ProcessRecord {
  private readonly children = new Map<string, ProcessIdentity>();

  constructor(private readonly path: string) {}

  /** Records a child as soon as it is spawned. */
  add(name: string, pid: number): void {
    const identity = identify(pid);
    if (!identity) return;
    this.children.set(name, identity);
    this.save();
  }

  remove(name: string, pid: number): void {
    if (this.children.get(name)?.pid !== pid) return;
    this.children.delete(name);
    this.save();
  }

  pids(): Record<string, number> {
    return Object.fromEntries([...this.children].map(([name, { pid }]) => [name, pid]));
  }

  /**
   * Ends the orphans of an earlier run on this folder: only recorded processes, and only if they are still
   * the same ones.
   */
  async endOrphans(): Promise<void> {
    const noted = Object.entries((readJson(this.path) ?? {}) as Record<string, ProcessIdentity>);
    await Promise.all(
      noted.map(([name, identity]) =>
        endProcess(identity, name === 'postgres' ? 'SIGINT' : 'SIGTERM', ORPHAN_PATIENCE_MS),
      ),
    );
    this.save();
  }

  /** On a full disk, the file is left as it is until the next change, or until there is room. */
  save(): void {
    writePrivateJsonIfRoom(this.path, Object.fromEntries(this.children));
  }
}
