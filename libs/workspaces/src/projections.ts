import type { Projection } from '#event-sourcing/projections/projection.js';
import { workspaceProjection } from './read-models/workspace/workspace.projection.js';

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const workspacesProjections: readonly Projection[] = [workspaceProjection];
