import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { onecodeProvider } from './onecode.provider.js';
import { SessionMiddleware } from './sessions/session.middleware.js';
import { SessionStore } from './sessions/session.store.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { SignInService } from './sign-in/sign-in.service.js';

@Module({
  controllers: [SignInController],
  providers: [onecodeProvider, SessionStore, SignInService],
})
export class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(SessionMiddleware).forRoutes(SignInController);
  }
}
