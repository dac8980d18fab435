"""Pictures of a layout; imported only when somebody asks for one."""
