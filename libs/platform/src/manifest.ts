import type { z } from 'zod';

/** A resource that audit records name. */
export interface AuditedResource {
  /** The route parameter that contains its id, a UUID. */
  readonly parameter: string;
  /** The path that creates it: the answer's `Location` is this path, a slash and the new id. */
  readonly path: string;
}

/**
 * What a module declares to the programs composed of modules. A plain object (`libs/<module>/src/manifest.ts`);
 * importing it loads no framework and no driver.
 */
export interface ModuleManifest {
  /** Its folder under `libs/`, its schema in PostgreSQL, and the table of its applied migrations. */
  readonly name: string;
  /** The environment variables that it adds to the platform's. */
  readonly settings: z.ZodRawShape;
  /**
   * Tables that exist only in PostgreSQL, with their contents. No event can rebuild them, so every backup needs them.
   * All other tables of the schema belong to projections.
   */
  readonly operationalTables: Readonly<Record<`${string}.${string}`, string>>;
  /** Its read models, by the permanent name of the projection, with what each shows. Rebuilt from events. */
  readonly projections: Readonly<Record<string, string>>;
  /** Its consumers with effects, by the permanent name of the checkpoint, with what each does. Never rebuilt. */
  readonly processes: Readonly<Record<string, string>>;
  /** Its kinds of jobs, by their name in the queue, with what each does. */
  readonly jobs: Readonly<Record<string, string>>;
  /** The resource of the module that audit records name. Only one module has one. */
  readonly audited?: AuditedResource;
}
