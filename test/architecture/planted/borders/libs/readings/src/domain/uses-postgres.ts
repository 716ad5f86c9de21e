// caught by: domain-does-no-io
import type { Pool } from 'pg';

export type Database = Pool;
