import type { OpenAPIObject } from '@nestjs/swagger';

/** The types of parts of an OpenAPI document; @nestjs/swagger exports only the whole. */
export type Components = NonNullable<OpenAPIObject['components']>;
export type PathItemObject = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItemObject['get']>;
type ParameterOrReference = NonNullable<OperationObject['parameters']>[number];
export type ReferenceObject = Extract<ParameterOrReference, { $ref: string }>;
export type ParameterObject = Exclude<ParameterOrReference, ReferenceObject>;
export type ResponseObject = Exclude<OperationObject['responses'][string], ReferenceObject | undefined>;
export type ContentObject = NonNullable<ResponseObject['content']>;
export type SchemaObject = Exclude<NonNullable<Components['schemas']>[string], ReferenceObject>;
export type HeaderObject = Exclude<NonNullable<Components['headers']>[string], ReferenceObject>;
export type ExampleObject = Exclude<NonNullable<Components['examples']>[string], ReferenceObject>;
