import type { z } from 'zod';

/** A resource that audit records name. */
export interface AuditedResource {
  /** The parameter of a route that holds its id, a UUID. */
  readonly parameter: string;
  /** Where it is created: the answer's `Location` is this path, a slash and the new id. */
  readonly path: string;
}

/**
 * What a module tells the programs that are put together from modules. A plain object (`libs/<module>/src/manifest.ts`);
 * to import it loads no framework and no driver.
 */
export interface ModuleManifest {
  /** Its folder below `libs/`, its schema in PostgreSQL, and the table that lists its applied migrations. */
  readonly name: string;
  /** The environment variables that it adds to the platform's. */
  readonly settings: z.ZodRawShape;
  /**
   * Tables that only PostgreSQL knows, with what they hold. No event can rebuild them, so every backup needs them. Each
   * other table of the schema is a view of a projection.
   */
  readonly operationalTables: Readonly<Record<`${string}.${string}`, string>>;
  /** The areas of its routes: a bearer token needs `<area>:read` or `<area>:write`. */
  readonly scopeAreas: readonly string[];
  /** What audit records name of it. One module has such a resource. */
  readonly audited?: AuditedResource;
}
