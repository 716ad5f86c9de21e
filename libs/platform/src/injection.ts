/**
 * Nest's decorators of modules and providers, each from its own file. `@nestjs/common` itself loads most of the
 * framework; the operator's commands use the same modules and handlers, and start without it.
 */
import 'reflect-metadata';

export { Inject } from '@nestjs/common/decorators/core/inject.decorator.js';
export { Injectable } from '@nestjs/common/decorators/core/injectable.decorator.js';
export { Module } from '@nestjs/common/decorators/modules/module.decorator.js';
