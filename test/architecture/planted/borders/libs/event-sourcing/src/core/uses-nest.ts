// caught by: kernel-core-is-plain-typescript
export { Injectable } from '@nestjs/common';
