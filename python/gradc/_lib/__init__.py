"""The compiled parts of gradc."""
